"""What front ends may import of the engine."""
