"""Random shapes of every kind that sizes can say."""

from hypothesis import strategies as st

from identify.inertia.shapes import SHAPES, Shape, shape_from_sizes, shape_sizes


@st.composite
def shapes(draw: st.DrawFn, names: tuple[str, ...] = tuple(SHAPES), aspect: float = 6.0) -> Shape:
    """A shape with sizes from a millimetre to ten metres, of limited aspect."""
    name = draw(st.sampled_from(names))
    size = 10.0 ** draw(st.floats(-3.0, 1.0))
    ratios = [draw(st.floats(1.0 / aspect, 1.0)) for _ in shape_sizes(name)]
    return shape_from_sizes(name, [size * ratio for ratio in ratios])
