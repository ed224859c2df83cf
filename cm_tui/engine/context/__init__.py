"""Context packs: what a person pastes into a chat, within a budget of tokens."""
