"""Why a gang waits in a Ray cluster, and what an error of Ray means, each in a sentence.

Like the keeper, this is sent to the cluster by value, so it needs nothing but itself.
"""

from __future__ import annotations

from typing import Any


def why_it_waits(
    spec: dict[str, Any], nodes: list[dict[str, Any]], holders: int, before: int, hopeless: bool = False
) -> str:
    """What a gang waits for. `holders` gangs have nodes, and `before` others wait before it; `hopeless`: the autoscaler
    cannot add what is missing."""
    bundle, wanted = spec["bundle"], spec["nodes"]

    def fits(amounts: dict[str, float]) -> bool:
        return all(amounts.get(name, 0) >= amount for name, amount in bundle.items())

    staying = [node for node in nodes if not node["leaving"]]
    able = sum(fits(node["has"]) for node in staying)
    free = sum(fits(node["free"]) for node in staying)
    reason = f"waits for {spec['wish']}; the cluster has "
    if able < wanted:
        reason += f"{able or 'no'} such node{'' if able == 1 else 's'}"
        if hopeless:
            return reason + ", and its autoscaler cannot add them: it has no such type of node, or may not have so many"
        return reason + (" and is asked to grow" if spec["grows"] else ", so it must grow first")
    verb = "is" if free < 2 else "are"
    reason += f"{able} such node{'' if able == 1 else 's'}, of which {free or 'none'} {verb} free"
    if holders:
        reason += f"; {holders} run{'' if holders == 1 else 's'} of this server {'is' if holders == 1 else 'are'} there"
    return reason + (f"; {before} wait{'s' if before == 1 else ''} before it" if before else "")


def first_line(error: BaseException) -> str:
    """
    >>> first_line(RuntimeError("The node died.\\n  some trace"))
    'The node died'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
