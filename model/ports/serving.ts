/** Whether this node serves, as the doors ask before and while they serve a request. */

/** Why nothing is served: the database does not serve, or another node that does not share has taken over. */
export type Trouble = 'database' | 'superseded';

export interface Serving {
  trouble(): Trouble | null;
  /** What the work comes to. Rejects: Refused SERVICE_UNAVAILABLE when a trouble begins before the work has ended. */
  whileServing<T>(work: Promise<T>): Promise<T>;
  /** Whether an error of a store says that the database does not serve. */
  isAway(error: unknown): boolean;
}
