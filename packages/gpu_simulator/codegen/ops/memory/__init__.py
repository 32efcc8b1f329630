"""Instructions that read, write and copy memory."""
