/** `flock trigger EVENT`: makes an event happen, by what leads to it, and says which one came of it. X32. */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import type { EventName } from '../../protocol/slugs.ts';
import { answer, answerLine, CommandFailed, EXIT, running, type Exit, type Running } from './answer.ts';
import { inputsGiven } from './inputs.ts';
import { RECIPES, type Recipe } from './recipes.ts';
import { sessionOf, type Session } from './session.ts';

const LOOK_MS = 200;
const LIMIT_MS = 30_000;
const PAGE = 100;

export function trigger(args: readonly string[], flags: Flags): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: { set: { type: 'string', multiple: true, default: [] }, cleanup: { type: 'boolean', default: false } },
  });
  return running(flags, async (run): Promise<Exit | void> => {
    const [event, ...more] = positionals;
    if (event === undefined) return listed(flags);
    if (more.length > 0) throw new CommandFailed('USAGE', 'one event');
    const recipe = recipeOf(event);
    const inputs = inputsGiven(event, recipe.inputs, values.set);
    const session = sessionOf(flags, run);
    if (session.environment === 'live' || session.isEdge)
      throw new CommandFailed('SANDBOX_ONLY', 'events are made in a sandbox: use a profile of the cloud with its key');
    const since = (await session.flock.listEvents({ size: 1 })).content[0]?.id ?? 'start';
    const undo = await recipe.make(session.flock, inputs);
    const id = await published(session, event, since, run);
    if (values.cleanup) await undo();
    answer(flags, { event, id }, `${event} ${id}`);
  });
}

function recipeOf(event: string): Recipe {
  const recipe = Object.hasOwn(RECIPES, event) ? RECIPES[event as EventName] : undefined;
  if (recipe === undefined)
    throw new CommandFailed('USAGE', `no such event; there are ${Object.keys(RECIPES).join(', ')}`);
  if (typeof recipe === 'string') throw new CommandFailed('NEEDS', `${event} needs ${recipe}`, EXIT.failed);
  return recipe;
}

/** The first event of that name behind `since`. Throws: CommandFailed when none came in time. */
async function published({ flock }: Session, event: string, since: string, { signal }: Running): Promise<string> {
  const endsAt = performance.now() + LIMIT_MS;
  let place = since;
  while (performance.now() < endsAt && !signal.aborted) {
    const { content, hasMore } = await flock.listEvents({ since: place, size: PAGE });
    const found = content.find((one) => one.event === event);
    if (found !== undefined) return found.id;
    place = content.at(-1)?.id ?? place;
    if (!hasMore) await delay(LOOK_MS, null, { signal }).catch(() => undefined);
  }
  if (signal.aborted) throw new CommandFailed('INTERRUPTED', 'the fact was made', EXIT.interrupted);
  throw new CommandFailed(
    'NO_EVENT',
    `the fact was made, and no ${event} came within ${LIMIT_MS / 1_000} s`,
    EXIT.timedOut,
  );
}

function listed(flags: Flags): void {
  for (const [event, recipe] of Object.entries(RECIPES)) {
    const inputs = typeof recipe === 'string' ? null : recipe.inputs;
    if (flags.json) answerLine({ event, inputs, needs: typeof recipe === 'string' ? recipe : null });
    else
      process.stdout.write(
        `${event}  ${inputs === null ? `needs ${recipe as string}` : Object.keys(inputs).join(' ')}\n`,
      );
  }
}
