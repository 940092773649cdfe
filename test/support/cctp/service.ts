/**
 * Circle's attestation service for tests: it reads burns from the ledgers, signs what is final, and says something else
 * where a test wants it to. Treasury H8, H13.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { domainOf, FINALIZED, MESSAGE_SENT, MESSAGE_TRANSMITTER, messageIn } from '../../../chains/evm/cctp.ts';
import type { BridgedLedger } from './contracts.ts';
import { attestedOf, type Fills } from './attester.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What is said of a burn: `honest` is what the service would say, `asked` how often it was asked before. */
export type Plan = (honest: Answer, asked: number) => Answer;

export interface AttestationService {
  readonly url: string;
  /** Requests for messages so far. */
  readonly asked: number;
  plan: Plan;
  /** What the attester puts into its own fields. */
  fills: Fills;
  /** What it charges, as it writes it: basis points. */
  minimumFee: string;
  close(): Promise<void>;
}

interface Receipt {
  readonly blockNumber: string;
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[];
}

export const pending: Answer = { status: 404, body: { error: 'Message not found' } };

export async function startAttestations(ledgers: readonly BridgedLedger[]): Promise<AttestationService> {
  let asked = 0;
  async function honestAnswer(domain: number, txid: string): Promise<Answer> {
    const ledger = ledgers.find(({ chain }) => domainOf(chain) === domain);
    const receipt = (await ledger?.node.rpc<Receipt | null>('eth_getTransactionReceipt', [txid])) ?? null;
    if (receipt === null) return pending;
    const sent = receipt.logs.filter(
      ({ address, topics }) =>
        address.toLowerCase() === MESSAGE_TRANSMITTER.toLowerCase() && topics[0] === MESSAGE_SENT,
    );
    const final = await ledger!.node.rpc<{ number: string } | null>('eth_getBlockByNumber', ['finalized', false]);
    const isFinal = final !== null && BigInt(final.number) >= BigInt(receipt.blockNumber);
    const messages = sent.map(({ data }) => {
      if (!isFinal) return { status: 'pending_confirmations', message: '0x', attestation: 'PENDING' };
      // One number for each burn, as the real one gives it.
      const nonce = BigInt(txid) >> 8n;
      return {
        status: 'complete',
        eventNonce: String(nonce),
        ...attestedOf(messageIn(data)!, { nonce, ...service.fills }),
      };
    });
    return messages.length === 0 ? pending : { status: 200, body: { messages } };
  }

  const answerTo = async (path: string): Promise<Answer> => {
    const [, domain, txid] = /^\/v2\/messages\/(\d+)\?transactionHash=(0x[0-9a-f]{64})$/.exec(path) ?? [];
    if (domain !== undefined && txid !== undefined) {
      const honest = await honestAnswer(Number(domain), txid);
      return service.plan(honest, asked++);
    }
    if (/^\/v2\/burn\/USDC\/fees\/\d+\/\d+$/.test(path)) {
      const fee = `{"finalityThreshold":1000,"minimumFee":1.3},{"finalityThreshold":${FINALIZED},"minimumFee":${service.minimumFee}}`;
      return { status: 200, body: `[${fee}]` };
    }
    return { status: 404, body: { error: 'not found' } };
  };
  const server: Server = createServer((request, response) => {
    void answerTo(request.url ?? '')
      .catch((error: unknown) => ({ status: 500, body: { error: String(error) } }))
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: AttestationService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan: (honest) => honest,
    fills: {},
    minimumFee: '0',
    get asked() {
      return asked;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}
