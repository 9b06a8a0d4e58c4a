"""The shape of a guest: nodes, their CPUs and memory, and the distances between them."""
import pathlib
from typing import NamedTuple

LOCAL = 10           # distance of a node to itself, in the firmware's (SLIT) unit
FARTHEST = 254       # 255 means unreachable
MOST_CPUS = 255      # more need an interrupt controller that the emulated machine has not
MOST_NODES = 64      # the Debian cloud kernel is built for 64


class LayoutError(Exception):
    """A guest that cannot be built: what, and what was expected."""


class Layout(NamedTuple):
    """One guest. All lists are by node; a node with 0 CPUs has only memory."""
    cpus: list
    memory_mib: list
    distance: list

    @property
    def nodes(self):
        return len(self.cpus)

    def cpus_of(self, node):
        """Numbers of the node's CPUs: nodes are numbered through in order."""
        first = sum(self.cpus[:node])
        return range(first, first + self.cpus[node])


def usual_distance(a, b):
    """Two nodes to a package, packages alike: what the firmware of a four-socket machine gives."""
    return LOCAL if a == b else 16 if a // 2 == b // 2 else 22


def from_counts(nodes, cpus_per_node, memory_only, memory_mib):
    """`nodes` nodes of `cpus_per_node` CPUs, then `memory_only` nodes without any."""
    total = nodes + memory_only
    distance = [[usual_distance(a, b) for b in range(total)] for a in range(total)]
    return checked(Layout([cpus_per_node] * nodes + [0] * memory_only, [memory_mib] * total, distance))


def from_machine_file(path, cpus_per_node, memory_mib):
    """Nodes and distances of a file of machines/. CPUs and memory are the guest's: real ones would not fit."""
    import tomllib
    try:
        machine = tomllib.loads(pathlib.Path(path).read_text())
        cpus = [cpus_per_node if group.get("cpus", 0) else 0 for group in machine["nodes"] for _ in range(group.get("count", 1))]
        classes, slit = machine["distances"]["matrix"], machine["distances"]["slit"]
        distance = [[round(slit[c]) for c in row] for row in classes]
    except (OSError, tomllib.TOMLDecodeError) as e:
        raise LayoutError(f"{path}: {e}") from e
    except (KeyError, IndexError, TypeError) as e:
        raise LayoutError(f"{path}: expected [[nodes]], and [distances] with matrix and slit ({e!r})") from e
    return checked(Layout(cpus, [memory_mib] * len(cpus), distance))


def checked(layout):
    """The layout, or a LayoutError that says what no emulated machine can have."""
    n = layout.nodes
    if not 1 <= n <= MOST_NODES:
        raise LayoutError(f"{n} nodes: expected 1 to {MOST_NODES}")
    if not 1 <= sum(layout.cpus) <= MOST_CPUS or min(layout.cpus) < 0:
        raise LayoutError(f"{sum(layout.cpus)} CPUs: expected 1 to {MOST_CPUS}")
    if layout.cpus[0] == 0:
        raise LayoutError("node 0 has no CPU: the machine starts there")
    if min(layout.memory_mib) < 64:
        raise LayoutError(f"{min(layout.memory_mib)} MiB in a node: expected 64 or more, or the kernel has no room")
    if len(layout.distance) != n or any(len(row) != n for row in layout.distance):
        raise LayoutError(f"the distances are not a matrix of {n} x {n}")
    for a in range(n):
        for b in range(n):
            low, high = (LOCAL, LOCAL) if a == b else (LOCAL + 1, FARTHEST)
            if not low <= layout.distance[a][b] <= high:
                raise LayoutError(f"distance {layout.distance[a][b]} from node {a} to node {b}: expected {low} to {high}")
    return layout
