/**
 * One thread of a node that derives keys for migrations, so that nobody else waits for it. It begins with the first
 * job, keeps no process alive, and takes jobs in turn: an account has one at a time.
 */
import { Worker } from 'node:worker_threads';
import type { AccountId } from '../../../protocol/ids.ts';
import { Turns } from '../../../protocol/turns.ts';
import type { Answered, Job, Results } from './work.ts';

interface Waiting {
  readonly resolve: (result: Results[Job['kind']]) => void;
  readonly reject: (error: Error) => void;
}

let thread: Worker | null = null;
let nextId = 0;
const waiting = new Map<number, Waiting>();
const turns = new Turns<AccountId>();

/** The result of a job for an account. Rejects: Error where the thread ended, or the job is none. */
export function derive<K extends Job['kind']>(
  accountId: AccountId,
  job: Extract<Job, { kind: K }>,
): Promise<Results[K]> {
  return turns.take(accountId, () => post(job)) as Promise<Results[K]>;
}

function post(job: Job): Promise<Results[Job['kind']]> {
  const running = (thread ??= started());
  const id = (nextId += 1);
  running.ref();
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    running.postMessage({ id, job });
  });
}

function started(): Worker {
  const worker = new Worker(new URL('./work.ts', import.meta.url));
  worker.on('message', (answer: Answered) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker.unref();
    if ('result' in answer) asked?.resolve(answer.result);
    else asked?.reject(new Error(answer.error));
  });
  const ended = (why: string) => {
    if (thread !== worker) return;
    thread = null;
    for (const { reject } of waiting.values()) reject(new Error(`the thread that derives keys ended: ${why}`));
    waiting.clear();
  };
  worker.on('error', (error) => ended(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => ended(`exit code ${code}`));
  worker.unref();
  return worker;
}
