"""What agents did, and what users and agents wrote down."""
