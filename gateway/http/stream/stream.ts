/** What happens in the account, as it happens: hints, after which the reader asks. Console C13. */
import { refuse } from '../../../protocol/errors.ts';
import { accountOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import {
  BEGINNING,
  createHub,
  placeOf,
  STREAMS_OF_ACCOUNT_MAX,
  STREAMS_OF_NODE_MAX,
  STREAMS_OF_USER_MAX,
  type Full,
  type Hub,
} from './hub.ts';

const BOUNDS: Readonly<Record<Full, readonly [reason: string, limit: number, next: string]>> = {
  user: ['streams_of_user', STREAMS_OF_USER_MAX, 'close one: all that you open at this node count together'],
  account: ['streams_of_account', STREAMS_OF_ACCOUNT_MAX, 'close one: all that listen to the account count together'],
  node: ['streams_of_node', STREAMS_OF_NODE_MAX, 'read from time to time instead, or try again later'],
};

export function streamHandler(
  deps: Pick<HandlerDeps, 'stores' | 'isDraining' | 'log' | 'metrics' | 'auth'>,
): Pick<Handlers, 'openStream'> {
  const { isDraining, log, metrics } = deps;
  let made: Hub | null = null;
  /** Made for the first that listens. */
  const hubOf = (): Hub => {
    if (made !== null) return made;
    made = createHub({
      store: deps.stores.changes,
      isDraining,
      log,
      observe: (streams) => metrics.set('svc_account_streams', {}, streams),
    });
    deps.auth.onDoubt(made.doubt);
    return made;
  };
  return {
    async openStream(asked) {
      const accountId = accountOf(asked),
        { caller } = asked;
      if (isDraining()) return refuse('SERVICE_UNAVAILABLE', { reason: 'stopping', retryAfterSeconds: 1 });
      const stream = await hubOf().listen({
        accountId,
        who: caller.bearer?.userId ?? caller.apiKeyId ?? '',
        isPerson: caller.bearer !== null && caller.bearer.support === undefined,
        place: asked.lastEventId === undefined ? null : (placeOf(asked.lastEventId) ?? BEGINNING),
        stillGood: asked.stillGood,
      });
      if (typeof stream === 'string') {
        const [reason, limit, next] = BOUNDS[stream];
        return refuse('CONFLICT', { reason, limit, next });
      }
      asked.setHeader('x-accel-buffering', 'no'); // nginx would hold it back
      return stream as never;
    },
  };
}
