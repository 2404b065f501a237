from identify.simulation.decoupled.rollout import (
    fast_rollout as fast_rollout,
)
from identify.simulation.forward import simulate as simulate
from identify.simulation.free_rotation import (
    FreeRotation as FreeRotation,
    Regime as Regime,
    RotationInvariants as RotationInvariants,
    free_motion as free_motion,
    rotate_freely as rotate_freely,
    rotation_invariants as rotation_invariants,
)
from identify.simulation.integrators import (
    CLOSED_FORM as CLOSED_FORM,
    INTEGRATORS as INTEGRATORS,
    Integrator as Integrator,
    find_integrator as find_integrator,
)
from identify.simulation.loads import (
    ConstantLoad as ConstantLoad,
    Impulse as Impulse,
    Load as Load,
    SampledLoad as SampledLoad,
    StateLoad as StateLoad,
    buoyancy as buoyancy,
)
from identify.simulation.poinsot import Poinsot as Poinsot, poinsot_motion as poinsot_motion
from identify.simulation.principal_axes import PrincipalBody as PrincipalBody
from identify.simulation.state import (
    State as State,
    StateJump as StateJump,
    Trajectory as Trajectory,
)
from identify.specification.simulation_file import (
    Simulation as Simulation,
    read_simulation as read_simulation,
    simulation_of_estimate as simulation_of_estimate,
)
