"""From a configuration to a run in the queue: `ScriptRunConfig`, `RunConfiguration` and what they become."""
