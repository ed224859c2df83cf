"""Context packs: text for pasting into a chat, within a budget of tokens."""
