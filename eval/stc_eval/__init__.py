"""How well a model reads each format of the same JSON document."""
