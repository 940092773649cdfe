-- What a session said last of the token registry that its edge has, and of its spend caps (treasury K15, S27). Null: it
-- said nothing of it.
alter table edge_session add column treasury jsonb;
