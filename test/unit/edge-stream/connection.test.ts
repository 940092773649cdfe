/** What an edge is asked, and the ways in which it does not answer. */
import { EventEmitter } from 'node:events';
import test from 'ava';
import type { Socket } from 'socket.io';
import { connectionOf } from '../../../gateway/edge-stream/connection.ts';

/** A socket whose acknowledgements a test gives; as Socket.IO's it waits on when the other side is gone. */
class HeldSocket extends EventEmitter {
  connected = true;
  readonly asked: { readonly frame: string; answer(value: unknown): void; refuse(error: Error): void }[] = [];

  timeout(): { emitWithAck(frame: string): Promise<unknown> } {
    return {
      emitWithAck: (frame) => {
        const { promise, resolve, reject } = Promise.withResolvers<unknown>();
        this.asked.push({ frame, answer: resolve, refuse: reject });
        return promise;
      },
    };
  }
  leave(): void {
    this.connected = false;
    this.emit('disconnect');
  }
}

test('what was asked of an edge that is gone meanwhile ends without an answer, and none is asked later', async (t) => {
  const socket = new HeldSocket(),
    connection = connectionOf(socket as never as Socket);
  const ask = () => connection.ask('operate', {}, 30_000);
  const first = ask();
  socket.asked[0]!.answer({ ok: true });
  t.deepEqual(await first, { ok: true });
  const late = ask();
  socket.asked[1]!.refuse(new Error('operation has timed out'));
  t.is(await late, null);
  const both = [ask(), ask()];
  socket.leave();
  t.deepEqual(await Promise.all(both), [null, null]);
  t.is(await ask(), null);
  t.is(socket.asked.length, 4, 'nothing is sent to nobody');
});
