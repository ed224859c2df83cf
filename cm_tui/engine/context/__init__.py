"""What an agent receives: definitions, assemblies, packs."""
