-- Why a proposed change to the token registry was taken back, for whoever proposed it. Null of those before.
alter table registry_proposal add column reason text
  constraint registry_proposal_reason check (reason is null or state = 'withdrawn');
