/**
 * The entry of the audit log that an accepted command writes with its events: who asked came with the command, old and
 * new values are read off the state before and after. Pure. Console U1–U3.
 */
import type { AccountCommand, AccountEvent, AccountState } from '../../model/account/capabilities.ts';
import {
  UNASKED,
  type AuditAction,
  type AuditChanges,
  type AuditNote,
  type AuditValue,
  type AuditWrite,
} from '../../model/rows/audit.ts';
import type { AccountDecision, CommandType } from './decision.ts';
import { evolve } from './evolve.ts';

/** The decision with its entry; one that changes nothing has none. */
export function withAudit(
  decision: AccountDecision<CommandType>,
  state: AccountState,
  command: AccountCommand,
): AccountDecision<CommandType> {
  if (!decision.ok || decision.events.length === 0) return decision;
  const note = command.audit ?? byTheClock(command);
  if (note === null) return decision;
  const after = decision.events.reduce<AccountState>((next, event: AccountEvent) => evolve(next, event), state);
  const row: AuditWrite = {
    table: 'audit_notes',
    key: `${state.version}`,
    row: {
      note: {
        ...note,
        target: targetOf(state, command, decision.reply) ?? note.target,
        changes: changesOf(state, after, command) ?? note.changes,
      },
    },
  };
  return { ...decision, rows: [...decision.rows, row] };
}

const BY_THE_CLOCK: Partial<Record<CommandType, AuditAction>> = {
  settle_band: 'settleBand',
  close_for_wipe: 'beginWipe',
  wipe_account: 'wipeAccount',
  end_wipe: 'endWipe',
};

/** What the clock changes of the control plane. */
function byTheClock({ type }: AccountCommand): AuditNote | null {
  const action = BY_THE_CLOCK[type];
  if (action === undefined) return null;
  return {
    actor: { kind: 'system', id: null },
    via: 'job',
    action,
    ...UNASKED,
  };
}

function targetOf({ accountId }: AccountState, command: AccountCommand, reply: unknown): string | null {
  switch (command.type) {
    case 'change_plan':
    case 'buy_plan':
    case 'settle_band':
    case 'suspend':
    case 'enrol':
      return accountId;
    case 'decide_rotation':
      return command.rotationId;
    default: {
      const { id } = (reply ?? {}) as { id?: unknown };
      return typeof id === 'string' ? id : null;
    }
  }
}

function changesOf(before: AccountState, after: AccountState, command: AccountCommand): AuditChanges | null {
  switch (command.type) {
    case 'change_plan':
    case 'buy_plan':
    case 'settle_band':
      return changed(planOf(before), planOf(after));
    case 'suspend':
      return changed({ suspended: before.suspended }, { suspended: after.suspended });
    case 'create_webhook':
      return changed({}, hookOf(command.row));
    case 'replace_webhook':
      return {
        ...changed(hookOf(command.known), hookOf(command.row)),
        ...(command.known.secretPreview === command.row.secretPreview ? {} : { secret: ['old', 'new'] }),
      };
    case 'delete_webhook':
      return changed(hookOf(command.known), {});
    case 'set_address_status':
      return changed({ status: command.known.status }, { status: command.status });
    default:
      return null;
  }
}

type Fields = Readonly<Record<string, AuditValue>>;

const planOf = ({ plan, pendingBand }: AccountState): Fields => ({
  tier: plan.tier,
  band: plan.band,
  subscription: plan.subscription,
  paymentsActive: plan.paymentsActive,
  pendingBand: pendingBand?.band ?? null,
});

const hookOf = ({ url, events, status }: { url: string; events: readonly string[]; status: string }): Fields => ({
  url: withoutQuery(url),
  events: [...events],
  status,
});

/** A query and credentials of a URL may be secrets of the customer's. */
function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** Fields that differ, old and new. */
export function changed(before: Fields, after: Fields): AuditChanges {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names
      .map((name) => [name, [before[name] ?? null, after[name] ?? null]] as const)
      .filter(([, [old, young]]) => JSON.stringify(old) !== JSON.stringify(young)),
  );
}
