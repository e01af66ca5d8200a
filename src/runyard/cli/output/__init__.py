"""What goes to the screen: tables, texts, logs that are followed."""
