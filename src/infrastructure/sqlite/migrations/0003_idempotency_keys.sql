-- The key of the request that made the job; NULL: it had none, or came before keys were kept.
ALTER TABLE job ADD COLUMN idempotency_key TEXT;
