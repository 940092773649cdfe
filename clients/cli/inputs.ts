/** Inputs of what a command makes, by `--set NAME=VALUE`. */
import { CommandFailed } from './answer.ts';

type Inputs = Readonly<Record<string, string | null>>;

/** `what` names whose inputs they are. Throws: CommandFailed that names the input which there is not. */
export function inputsGiven<T extends Inputs>(what: string, inputs: T, set: readonly string[]): T {
  const given = set.map((text) => {
    const at = text.indexOf('=');
    const name = at < 0 ? text : text.slice(0, at);
    if (at < 0 || !Object.hasOwn(inputs, name))
      throw new CommandFailed(
        'USAGE',
        `--set ${name.slice(0, 40)}: ${what} has ${Object.keys(inputs).join(', ') || 'no inputs'}, as NAME=VALUE`,
      );
    return [name, text.slice(at + 1)] as const;
  });
  return { ...inputs, ...Object.fromEntries(given) };
}
