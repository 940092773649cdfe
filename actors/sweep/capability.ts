/** Sweep policies of an account, and their cycles. */
import type { SweepSees } from '../../model/account/capabilities.ts';
import type { SweepCommand, SweepState } from '../../model/account/sweep.ts';
import type { Capability } from '../account/decision.ts';
import { sweepFolds } from './evolve.ts';
import { endJob, moveOperation, retryJob, runPolicy, settleJob } from './job.ts';
import {
  createPolicy,
  deferPolicy,
  deletePolicy,
  notePolicy,
  pausePolicy,
  replacePolicy,
  resumePolicy,
  skipRun,
} from './policy.ts';

export const sweep: Capability<SweepCommand, SweepSees, SweepState> = {
  owns: ['sweepPolicies'],
  decide: {
    create_sweep_policy: createPolicy,
    replace_sweep_policy: replacePolicy,
    delete_sweep_policy: deletePolicy,
    pause_sweep_policy: pausePolicy,
    resume_sweep_policy: resumePolicy,
    run_sweep_policy: runPolicy,
    defer_sweep_policy: deferPolicy,
    skip_sweep_run: skipRun,
    note_sweep_policy: notePolicy,
    move_sweep_operation: moveOperation,
    settle_sweep_job: settleJob,
    end_sweep_job: endJob,
    retry_sweep_job: retryJob,
  },
  folds: sweepFolds,
};
