/** What an event of an account, and an entry of its log, is called by those who listen. Console C13. */
import type { AccountEvent } from '../../../model/account/capabilities.ts';
import type { AuditAction } from '../../../model/rows/audit.ts';
import type { StreamTopic } from '../../../protocol/stream.ts';

type EventType = AccountEvent['type'];

/** Of every event, so that a new one is not forgotten. `sandbox_reset` has none: everything is read again; nor has a
 * clock that goes forward: what falls due has its own. */
const OF_EVENT: Readonly<Record<Exclude<EventType, 'sandbox_reset' | 'clock_advanced'>, StreamTopic>> = {
  address_issued: 'address',
  address_counted: 'address',
  address_status_changed: 'address',
  pool_pushed: 'address',
  pool_low_announced: 'readiness',
  peak_noted: 'usage',
  deposit_detected: 'deposit',
  deposit_confirmed: 'deposit',
  deposit_reversed: 'deposit',
  deposit_moved: 'deposit',
  withdrawal_built: 'transaction',
  withdrawal_repriced: 'transaction',
  withdrawal_bound: 'transaction',
  withdrawal_unbound: 'transaction',
  withdrawal_version_dropped: 'transaction',
  withdrawal_signed: 'transaction',
  withdrawal_broadcast: 'transaction',
  withdrawal_doubted: 'transaction',
  withdrawal_included: 'transaction',
  withdrawal_orphaned: 'transaction',
  withdrawal_confirmed: 'transaction',
  withdrawal_failed: 'transaction',
  withdrawal_expired: 'transaction',
  builds_expired: 'transaction',
  delivery_replayed: 'delivery',
  webhook_created: 'webhook',
  webhook_replaced: 'webhook',
  webhook_deleted: 'webhook',
  edge_enrolled: 'readiness',
  keys_added: 'readiness',
  key_source_registered: 'readiness',
  key_source_purged: 'readiness',
  rotation_detected: 'rotation',
  rotation_approved: 'rotation',
  rotation_rejected: 'rotation',
  lease_granted: 'edge',
  lease_released: 'edge',
  edge_liveness_changed: 'edge',
  payment_link_created: 'payment',
  payment_link_changed: 'payment',
  payment_link_patched: 'payment',
  payment_opened: 'payment',
  payment_changed: 'payment',
  invoice_issued: 'payment',
  payment_settings_changed: 'payment',
  treasury_wallet_created: 'sweep',
  funding_wallet_created: 'sweep',
  funding_wallet_low_since: 'sweep',
  sweep_policy_set: 'sweep',
  sweep_policy_deleted: 'sweep',
  sweep_job_ended: 'sweep',
  sweep_operation_moved: 'sweep',
  bridge_policy_set: 'bridge',
  bridge_policy_deleted: 'bridge',
  bridge_transfer_moved: 'bridge',
  import_reserved: 'import',
  import_opened: 'import',
  import_undone: 'import',
  project_cut_over: 'import',
  plan_changed: 'usage',
  band_change_scheduled: 'usage',
  band_change_ended: 'usage',
  suspension_changed: 'usage',
  quota_warned: 'usage',
  sandbox_reset_begun: 'usage',
  wipe_scheduled: 'usage',
  wipe_cancelled: 'usage',
  wipe_begun: 'usage',
  account_wiped: 'readiness',
  wipe_ended: 'usage',
  period_opened: 'usage',
  charge_made: 'usage',
  period_closed: 'usage',
  collection_recorded: 'usage',
};

/** Null where everything is to be read again: for a reset, and for an event of a newer release. */
export const topicOf = (type: EventType): StreamTopic | null =>
  (OF_EVENT as Readonly<Partial<Record<EventType, StreamTopic>>>)[type] ?? null;

/** What happens to an organization and is no event of an account. Only people hear of it. */
const OF_ACTION: Readonly<Partial<Record<AuditAction, StreamTopic>>> = {
  inviteMember: 'member',
  createInvitation: 'member',
  resendInvitation: 'member',
  revokeInvitation: 'member',
  acceptInvitation: 'member',
  joinByInvitation: 'member',
  changeMember: 'member',
  removeMember: 'member',
  transferOrganization: 'member',
  mintApiKey: 'key',
  revokeApiKey: 'key',
  revokeEdgeKey: 'key',
};
export const topicOfAction = (action: AuditAction): StreamTopic | null => OF_ACTION[action] ?? null;

/** What became of it, in words of the name: `deposit_confirmed` is `confirmed`. */
export const statusOf = (type: EventType): string => type.slice(type.indexOf('_') + 1);
export const statusOfAction = (action: AuditAction): string => action.replace(/[A-Z].*$/, '');
