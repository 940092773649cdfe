/**
 * The live text of every SQL function: one file each in `functions/`, applied by `migrate` after the numbered steps, in
 * this order, when its text has changed. A function comes after those that its SQL body calls.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const FOLDER = new URL('./functions/', import.meta.url);

/**
 * Rises by one with each release that changes a function. An older release is not applied over a newer set: two
 * releases run side by side during a rollout, and what the older one cannot live with gets a new name.
 */
export const FUNCTION_SET = 3;

/**
 * Functions of triggers, which numbered files name. A new one is made before the numbered files, so it is PL/pgSQL and
 * declares no variable of a table's type; a changed one is replaced after them, with all others.
 */
export const TRIGGER_FUNCTIONS = [
  'refuse',
  'append_only',
  'count_listed',
  'address_has_active_key',
  'registry_of_address',
  'ledger_entry_fits_deposit',
  'ledger_entry_in_turn',
  'ledger_entry_silence_allowed',
  'ledger_entry_has_event',
  'release_with_secrets',
  'mail_owners',
  'cursor_follows_parent',
] as const;

export const FUNCTIONS = [
  ...TRIGGER_FUNCTIONS,
  'save_idempotent',
  'forget_idempotent',
  'purge_idempotent',
  'shard_is_vacant',
  'claim_shards',
  'renew_node',
  'leave_node',
  'cluster_id',
  'join_cluster',
  'beat_node',
  'owner_map',
  'claim_released_shards',
  'claim_vacant_shards',
  'release_shards',
  'claim_chains',
  'release_chains',
  'list_nodes',
  'describe_node',
  'account_in_flight',
  'activate_account',
  'load_account',
  'id_prefix_of',
  'ensure_attempt_partitions',
  'post_facts',
  'ledger_fits_account',
  'check_link',
  'check_fork',
  'check_transfers',
  'check_withdrawal_facts',
  'links_kept',
  'record_link',
  'record_unresolved',
  'keep_keys',
  'record_block',
  'settle_displaced',
  'resolve_height',
  'record_late',
  'record_reorg',
  'absent_withdrawals',
  'mature_facts',
  'refute_facts',
  'note_withdrawal_fact',
  'note_unresolved',
  'reopen_height',
  'note_head',
  'note_heard',
  'begin_chain',
  'note_chain_start',
  'watched_addresses',
  'addresses_since',
  'immature_facts',
  'batch_without',
  'check_batch',
  'append_accounts',
  'address_limit_of',
  'append_stream',
  'unpaired_index',
  'unpaired_indexes',
  'check_pairs',
  'change_address_status',
  'append_addresses',
  'append_money',
  'hold_deliveries',
  'stop_endpoint',
  'append_webhooks',
  'numbered_id',
  'claim_deliveries',
  'release_deliveries',
  'create_organization',
  'sandbox_move',
  'sandbox_mine',
  'sandbox_unmine',
  'take_pooled',
  'drop_pooled',
  'take_sandbox_tasks',
  'sandbox_behind',
  'reset_sandbox_ledgers',
  'reset_sandbox',
  'audited_balances',
  'record_discrepancy',
  'counter_gaps',
  'dead_builds',
  'accounts_with_addresses',
  'release_claims',
  'release_abandoned_claims',
  'webhooks_sealed_otherwise',
  'reseal_webhook',
  'claim_mail',
  'record_mail',
  'claim_job',
  'renew_job',
  'end_job',
  'release_unreadable',
  'work_backlog',
  'webhooks_with_unreadable',
  'purge_deliveries',
  'purge_publications',
  'incomplete_publications',
  'accounts_with_pending_band',
  'facts_set_aside',
  'count_facts_set_aside',
  'retry_facts',
  'accounts_with_due_facts',
  'set_aside_fact',
  'hold_unreadable',
  'drop_attempt_partitions',
  'save_instructions',
  'open_withdrawals',
  'record_transfers',
  'record_attempts',
  'retell_block',
] as const;

export interface SqlFunction {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

/** The files in their order. Throws: Error when a listed file is missing. */
export function sqlFunctions(): SqlFunction[] {
  return FUNCTIONS.map((name) => {
    const text = readFileSync(new URL(`${name}.sql`, FOLDER), 'utf8');
    return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}
