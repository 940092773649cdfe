-- Indexes for looks that read all that is open, set aside, displaced or unproven.

-- settle_displaced goes from one span of heights to the next, not from fact to fact. A span without an end is of
-- version 28 and waits for every height.
create index fact_displaced_span on fact
    (ledger, (coalesce(displaced_above, -1)), (coalesce(displaced_until, 9223372036854775807)))
  where status = 'displaced';
drop index fact_displaced;
-- unresolved_height of a ledger, the least tried first (watch-store.ts).
create index unresolved_height_turn on unresolved_height (ledger, tries, height);
-- retry_facts of all accounts: what is not due yet, page by page.
create index inbox_again_over_all on inbox (retry_at) where retry_at is not null;
