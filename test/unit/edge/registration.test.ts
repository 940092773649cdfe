import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { Registration } from '../../../edge/link/registration.ts';
import { SCHEMA_VERSIONS } from '../../../edge/storage/schema.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { Storage } from '../../../edge/storage/storage.ts';
import { createTimers } from '../../../edge/process/timers.ts';
import type { Upstream } from '../../../edge/link/upstream.ts';

/** A disk that takes nothing for some writes. */
class FullDisk extends Storage {
  left = 0;
  override setSetting(name: string, value: string | null): void {
    this.left -= 1;
    if (this.left >= 0) throw new StorageFailed('disk_full');
    super.setSetting(name, value);
  }
}

function newRegistration(
  storage: Storage,
  call: (operation: string) => unknown,
  onConfirmed: () => void,
  faults: unknown[],
  pauses: number[] = [],
): Registration {
  const client = { call: async (operation: string) => call(operation) } as unknown as Upstream['signed'];
  return new Registration({
    upstream: { signed: client, unsigned: client } as Upstream,
    storage,
    edgeVersion: '1.0.0',
    sessionId: 'ses',
    keySetName: 'keys',
    rotationCheckMs: 1,
    // Pauses end at once: what is tested is that it goes on after them.
    timers: { ...createTimers(), pause: async (ms) => void pauses.push(ms), after: () => () => undefined },
    publicKeys: async () => ({ keys: [], pools: [] }),
    onConfirmed,
    onForgotten: () => undefined,
    onRefused: () => undefined,
    onFault: (error) => void faults.push(error),
  });
}

function storageOf(): FullDisk {
  const database = new DatabaseSync(':memory:');
  for (const sql of SCHEMA_VERSIONS) database.exec(sql);
  return new FullDisk(database);
}

test('§3.7 an edge whose disk is full while it registers tries again until the disk takes it', async (t) => {
  const storage = storageOf(),
    faults: unknown[] = [],
    asked: string[] = [];
  storage.left = 3;
  await new Promise<void>((resolve) => {
    newRegistration(storage, (operation) => void asked.push(operation), resolve, faults).start();
  });
  t.is(faults.length, 3);
  t.deepEqual(asked, ['syncEdge', 'syncEdge', 'syncEdge', 'syncEdge']);
  t.truthy(storage.setting('enrolled_as'));
});

test('§5.7 a full disk does not end the wait for the owner of a rotated identity', async (t) => {
  const storage = storageOf(),
    faults: unknown[] = [],
    states = ['quarantined', 'ready'];
  storage.left = 1;
  const registration = await new Promise<Registration>((resolve) => {
    const made = newRegistration(
      storage,
      (operation) =>
        operation === 'getEdgeReadiness' ? { content: [{ state: states.shift() ?? 'ready' }] } : undefined,
      () => resolve(made),
      faults,
    );
    made.halted('IDENTITY_ROTATION_PENDING');
  });
  t.is(faults.length, 1);
  t.is(registration.state.kind, 'confirmed');
});

test("found pool storm: an edge that is halted again and again looks at the owner's decision with one watch", async (t) => {
  const storage = storageOf();
  let atOnce = 0,
    most = 0,
    looks = 0;
  await new Promise<void>((resolve) => {
    const registration = newRegistration(
      storage,
      async (operation) => {
        if (operation !== 'getEdgeReadiness') return undefined;
        most = Math.max(most, (atOnce += 1));
        await new Promise(setImmediate);
        atOnce -= 1;
        looks += 1;
        if (looks < 4) {
          // a later call says so too, before the decision was seen
          registration.forgotten();
          registration.halted('IDENTITY_ROTATION_PENDING');
        }
        return { content: [{ state: looks < 6 ? 'quarantined' : 'ready' }] };
      },
      resolve,
      [],
    );
    registration.halted('IDENTITY_ROTATION_PENDING');
  });
  t.is(most, 1);
});

test('a cloud that registers an edge and takes it back again and again makes no busy loop of it', async (t) => {
  for (const lose of ['forgotten', 'halted'] as const) {
    const storage = storageOf(),
      pauses: number[] = [];
    let confirmed = 0,
      looks = 0;
    await new Promise<void>((resolve) => {
      const registration = newRegistration(
        storage,
        (operation) =>
          operation === 'getEdgeReadiness'
            ? { content: [{ state: (looks += 1) % 2 === 1 ? 'quarantined' : 'ready' }] }
            : undefined,
        () => {
          confirmed += 1;
          if (confirmed === 9) resolve();
          else if (lose === 'forgotten') queueMicrotask(() => registration.forgotten());
          else queueMicrotask(() => registration.halted('IDENTITY_ROTATION_PENDING'));
        },
        [],
        pauses,
      );
      registration.start();
    });
    // The first loss is mended at once; each later one waits, and without owner's decisions ever longer.
    if (lose === 'forgotten')
      t.deepEqual(
        pauses.map((ms, index) => ms >= 250 * 2 ** index),
        [true, true, true, true, true, true, true],
      );
    else t.true(pauses.length >= 2 * 8 - 1, `${pauses.length} pauses of 8 losses`);
  }
});
