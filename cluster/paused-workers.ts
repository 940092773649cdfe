/** Workers that pause with their node: while it does not serve, each message waits and is looked at again, once. */
import type { ActorSystem } from '../actors/kernel/index.ts';

/** How soon a paused worker goes on after its node does. */
const LOOK_AGAIN_MS = 250;

type Spawner = Pick<ActorSystem, 'spawnWorker'>;

/** A spawner whose workers do nothing while `isPaused` says so of their path. */
export function pausedWorkers(system: Spawner, isPaused: (path: string) => boolean): Spawner {
  return {
    spawnWorker<Message, Reply>(spec: Parameters<typeof system.spawnWorker<Message, Reply>>[0]) {
      const paused = () => isPaused(spec.path);
      let waiting: Set<Message> | null = null;
      return system.spawnWorker<Message, Reply>({
        ...spec,
        recover(context) {
          waiting = null; // its timer went with the memory; what recovers begins anew
          return spec.recover?.(context);
        },
        receive(message, context) {
          if (!paused()) return spec.receive(message, context);
          if (waiting === null) {
            waiting = new Set();
            const again = (): void => {
              if (paused() && !context.signal.aborted) return void context.timers.after(LOOK_AGAIN_MS, again);
              const messages = waiting ?? [];
              waiting = null;
              for (const one of messages) context.sendSelf(one);
            };
            context.timers.after(LOOK_AGAIN_MS, again);
          }
          waiting.add(message);
          return undefined as Reply;
        },
      });
    },
  };
}
