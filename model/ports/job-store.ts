/** Work that one node does for all of them, once in each period. PostgreSQL decides which one. */

export interface JobClaim {
  /** Start of the period that the claim is for, by the database's clock, epoch milliseconds. */
  readonly periodMs: number;
  /** This claim is the so-manieth since the job was last done, from 1. */
  readonly attempt: number;
}

export interface JobStore {
  /** Null where this period's work is done, another node has it, or it waits after a failure. */
  claim(job: string, node: string, everySeconds: number, claimSeconds: number): Promise<JobClaim | null>;
  /** False when the claim is not this node's any more. */
  renew(job: string, node: string, claimSeconds: number): Promise<boolean>;
  /** The work of the claim's period is done. */
  finish(job: string, node: string, claim: JobClaim): Promise<void>;
  /** It failed: any node may try again after the pause. */
  postpone(job: string, node: string, claim: JobClaim, pauseSeconds: number): Promise<void>;
}
