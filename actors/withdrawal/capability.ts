/** Withdrawals. */
import type { WithdrawalCommand, WithdrawalState } from '../../model/account/withdrawal.ts';
import type { Capability } from '../account/decision.ts';
import { bindWithdrawal } from './binding.ts';
import { abandonWithdrawal, buildWithdrawal, repriceWithdrawal } from './decide.ts';
import { withdrawalFolds } from './evolve.ts';
import { expireBuilds } from './expiry.ts';
import { beginSubmit, noteBroadcast, submitSigned } from './signed.ts';

export const withdrawal: Capability<WithdrawalCommand, WithdrawalState, WithdrawalState> = {
  owns: ['counters', 'withdrawals', 'reopened'],
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
  folds: withdrawalFolds,
};
