"""What a language model adds, where a person set one up: better words, and a second look; never a fact of its own."""
