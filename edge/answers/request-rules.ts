/** Answers about requests for tokens: they are of the contract that the caller wrote. */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isId } from '../../protocol/ids.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, type Ask } from './known.ts';

type RequestJson = ReplyOf<'requestToken'>;

/** Whether the text is the canonical one of a contract on that chain. */
const isContract = (chain: RequestJson['chain'], text: string): boolean =>
  factsOf(chain).parseToken(networkOf(chain), text) === text;

export const falseRequest = ({ id, chain, contractAddress, state, monitored }: RequestJson): string | null =>
  firstFalse(
    ['id', isId('tkr', id)],
    ['contractAddress', isContract(chain, contractAddress)],
    ['monitored', monitored === (state === 'published')],
  );

/** A contract that was asked for before is answered with the claims of then. Treasury Q2. */
export function falseNewRequest(row: RequestJson, { body }: Ask): string | null {
  const asked = body['contractAddress'];
  return (
    firstFalse(['chain', row.chain === body['chain']]) ??
    firstFalse([
      'contractAddress',
      typeof asked === 'string' && factsOf(row.chain).parseToken(networkOf(row.chain), asked) === row.contractAddress,
    ]) ??
    falseRequest(row)
  );
}

/** A contract on the simulated ledger is the one that the caller described. Treasury Q9. */
export function falseSimulatedToken(row: ReplyOf<'simulateToken'>, { body }: Ask): string | null {
  const asked = body['contractAddress'];
  return firstFalse(
    ['chain', row.chain === body['chain']],
    ['symbol', row.symbol === body['symbol']],
    ['decimals', row.decimals === body['decimals']],
    [
      'contractAddress',
      typeof asked === 'string' && factsOf(row.chain).parseToken(networkOf(row.chain), asked) === row.contractAddress,
    ],
    ['hazards', JSON.stringify(row.hazards) === JSON.stringify(body['hazards'] ?? [])],
  );
}
