/**
 * What several clients asked and heard, in the order in which this process saw it:
 *
 *   invoke ──answered──▶ ok       it was done, and this came of it
 *          ──refused───▶ fail     it was not done and will not be
 *          ──otherwise─▶ unknown  it was done, will be done, or never: no answer, or one that leaves it open
 */
export type Outcome = 'ok' | 'fail' | 'unknown';

export interface Operation<Input = unknown, Output = unknown> {
  readonly subject: string;
  readonly input: Input;
  /** Who asked, and which node: for reading a history. */
  readonly by: string;
  /** Places in the order of all beginnings and ends; `endedAt` is Infinity where the outcome is unknown. */
  readonly begunAt: number;
  endedAt: number;
  outcome: Outcome;
  output: Output | null;
}

export class Recorder {
  readonly operations: Operation[] = [];
  #now = 0;

  invoke<Input, Output>(subject: string, input: Input, by: string): Operation<Input, Output> {
    const operation: Operation<Input, Output> = {
      subject,
      input,
      by,
      begunAt: (this.#now += 1),
      endedAt: Infinity,
      outcome: 'unknown',
      output: null,
    };
    this.operations.push(operation as Operation);
    return operation;
  }

  ok<Output>(operation: Operation<unknown, Output>, output: Output): void {
    Object.assign(operation, { endedAt: (this.#now += 1), outcome: 'ok', output });
  }

  fail(operation: Operation<never, never>): void {
    Object.assign(operation, { endedAt: (this.#now += 1), outcome: 'fail' });
  }

  /** By subject, in the order of beginnings. */
  bySubject(): Map<string, Operation[]> {
    return Map.groupBy(this.operations, ({ subject }) => subject);
  }
}

export const told = ({ by, input, outcome, output, begunAt, endedAt }: Operation): string =>
  `${begunAt}–${endedAt} ${by} ${JSON.stringify(input)} ${outcome} ${output === null ? '' : JSON.stringify(output)}`.trimEnd();
