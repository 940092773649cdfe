/** Transactions that leave: payments and opt-ins that a caller asked for. */
import type { OutgoingCommand, OutgoingState } from '../../model/account/outgoing.ts';
import type { Capability } from '../account/decision.ts';
import { bindWithdrawal } from './binding.ts';
import { abandonWithdrawal, buildWithdrawal, repriceWithdrawal } from './decide.ts';
import { outgoingFolds } from './evolve.ts';
import { expireBuilds } from './expiry.ts';
import { beginSubmit, noteBroadcast, submitSigned } from './signed.ts';

export const outgoing: Capability<OutgoingCommand, OutgoingState, OutgoingState> = {
  owns: ['counters', 'withdrawals', 'signed', 'reopened'],
  decide: {
    build_withdrawal: buildWithdrawal,
    reprice_withdrawal: repriceWithdrawal,
    bind_withdrawal: bindWithdrawal,
    abandon_withdrawal: abandonWithdrawal,
    expire_builds: expireBuilds,
    submit_signed: submitSigned,
    begin_submit: beginSubmit,
    note_broadcast: noteBroadcast,
  },
  folds: outgoingFolds,
};
