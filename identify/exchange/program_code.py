"""Bodies as lines of a program: Drake's `SpatialInertia` and DART's `Inertia`, in Python.

Both are made from mass, centre of mass and the inertia about it, in axes of B, the numbers that
`round_body` keeps possible when they are rounded.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from identify.exchange.rounding import RoundedBody, round_body


def drake_code(phi: ArrayLike) -> tuple[str, RoundedBody]:
    """`SpatialInertia` of Drake about Bo in B, and the body that the text says.

    Args:
        phi: ten parameters about Bo in B, shape (10,).

    Raises:
        ModelError: an impossible body.
    """
    body = round_body(phi)
    xx, xy, xz, yy, yz, zz = body.inertia
    text = (
        "from pydrake.multibody.tree import RotationalInertia, SpatialInertia\n\n"
        "# kg, m, kg m^2; p_PScm_E from the frame's origin, the rotational inertia about the\n"
        "# centre of mass, axes of the frame\n"
        "spatial_inertia = SpatialInertia.MakeFromCentralInertia(\n"
        f"    mass={body.mass},\n"
        f"    p_PScm_E=[{', '.join(body.com)}],\n"
        "    I_SScm_E=RotationalInertia(\n"
        f"        Ixx={xx}, Iyy={yy}, Izz={zz},\n"
        f"        Ixy={xy}, Ixz={xz}, Iyz={yz},\n"
        "    ),\n"
        ")\n"
    )
    return text, body


def dart_code(phi: ArrayLike) -> tuple[str, RoundedBody]:
    """`dynamics.Inertia` of DART about Bo in B, and the body that the text says.

    Args:
        phi: ten parameters about Bo in B, shape (10,).

    Raises:
        ModelError: an impossible body.
    """
    body = round_body(phi)
    xx, xy, xz, yy, yz, zz = body.inertia
    text = (
        "import dartpy\n\n"
        "# kg, m, kg m^2; centre of mass from the body node's origin, the moment about the\n"
        "# centre of mass, axes of the body node\n"
        "inertia = dartpy.dynamics.Inertia(\n"
        f"    {body.mass},\n"
        f"    [{', '.join(body.com)}],\n"
        f"    [[{xx}, {xy}, {xz}],\n"
        f"     [{xy}, {yy}, {yz}],\n"
        f"     [{xz}, {yz}, {zz}]],\n"
        ")\n"
    )
    return text, body
