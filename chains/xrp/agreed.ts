/** Inputs of two servers as one. docs/chains/endpoints.md. */
import type { Agreement, Intent, Network } from '../chain.ts';
import { compareInputs, feeMaxBy, fundsOf, lowerCounter } from '../agreed-inputs.ts';
import { estimateFee } from './fee.ts';
import type { LineState, XrpInputs } from './inputs.ts';

/** Ledgers that honest servers may be apart: the last ledger of a payment is counted from the lower one. */
const LEDGERS_APART_MAX = 3;

export function agreeInputs(network: Network, a: XrpInputs, b: XrpInputs, intent: Intent): Agreement<XrpInputs> {
  const feeMax = feeMaxBy((inputs: XrpInputs) => estimateFee(network, inputs, intent));
  const { about, dearer } = compareInputs(a, b, {
    feeMax,
    facts: (one) => ({
      sender: one.sender !== null,
      reserve: [one.reserveBaseDrops, one.reserveIncrementDrops],
      ...fundsOf(intent, fundsIn(one, intent, feeMax(one))),
      ...destinationIn(one),
      issuer: one.token?.issuer ?? null,
      trustline: one.token === null ? null : [lineIn(one.token.senderLine), lineIn(one.token.destinationLine)],
    }),
    near: ({ readAtHeight }) => ({ head: [readAtHeight, LEDGERS_APART_MAX] }),
  });
  if (about.length > 0) return { ok: false, about };
  const { value: sequence, mark } = lowerCounter(a.sender?.sequence ?? 0, b.sender?.sequence ?? 0);
  return {
    ok: true,
    inputs: {
      ...dearer,
      readAtHeight: Math.min(a.readAtHeight, b.readAtHeight),
      ...mark,
      sender:
        dearer.sender === null
          ? null
          : {
              ...dearer.sender,
              sequence,
              tickets: dearer.sender.tickets.filter(
                (ticket) => ticketsOf(a).includes(ticket) && ticketsOf(b).includes(ticket),
              ),
            },
    },
  };
}

const ticketsOf = ({ sender }: XrpInputs): readonly number[] => sender?.tickets ?? [];

function fundsIn(
  { sender, token, reserveBaseDrops, reserveIncrementDrops }: XrpInputs,
  intent: Intent,
  feeMax: bigint | null,
) {
  const locked = BigInt(reserveBaseDrops) + BigInt(reserveIncrementDrops) * BigInt(sender?.ownerCount ?? 0);
  const native = BigInt(sender?.balanceDrops ?? '0') - locked;
  return { asset: intent.token === null ? native : BigInt(token?.senderLine?.balance ?? '0'), native, feeMax };
}

/** What the destination asks of a payment; its balance is nobody's business. */
function destinationIn({ destination }: XrpInputs): Readonly<Record<string, unknown>> {
  return {
    destination: destination !== null,
    destinationTag: destination?.requiresTag ?? null,
    destinationTakes: destination === null ? null : [destination.refusesXrp, destination.takesDeposits],
  };
}

/** A line without its balance, which others move. */
function lineIn(line: LineState | null): unknown {
  if (line === null) return null;
  const { balance: _, ...rules } = line;
  return rules;
}
