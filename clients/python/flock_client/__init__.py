"""Client of Flock on the standard library: a method for each operation of a cloud or an edge."""

from ._core import Clock, FlockError
from ._methods import Flock
from ._version import VERSION as __version__

__all__ = ["Clock", "Flock", "FlockError", "__version__"]
