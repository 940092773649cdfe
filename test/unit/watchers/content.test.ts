import test from 'ava';
import { chainFailure } from '../../../chains/failure.ts';
import { ChainUnavailable, MalformedReply } from '../../../chains/chain.ts';

test('the reason of a chain failure can be stored whatever the node said, so that no text of a node stops a watcher', (t) => {
  for (const said of ['no\u0000thing', 'a\ud83d', 'x'.repeat(299) + '\u{1f600}', 'y'.repeat(10_000)]) {
    for (const error of [new ChainUnavailable('eth', said), new MalformedReply(said, '')]) {
      const reason = chainFailure(error)!;
      t.true(reason.isWellFormed() && !reason.includes('\u0000') && reason.length <= 300);
    }
  }
  t.is(chainFailure(new Error('no\u0000thing')), null, 'any other error is a fault');
});
