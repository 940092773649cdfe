/**
 * One server of a network: JSON-RPC and WebSocket on one loopback port, API versions 1 and 2, with its own faults.
 *
 *   JSON-RPC    {"method":"fee","params":[{…}]}   → {"result":{…,"status":"success"}}, errors inside of the result
 *   WebSocket   {"id":1,"command":"fee",…}        → {"id":1,"status":"success","type":"response","result":{…}}
 *
 * Errors come with HTTP 200. Source: xrpl.org "Request Formatting", "Response Formatting", "Error Formatting".
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { noFaults, Showing, type Faults } from './faults.ts';
import type { ClosedLedger, LedgerNetwork } from './ledger-network.ts';
import { MethodError } from './method.ts';
import { perform } from './methods.ts';
import type { Version } from './shapes.ts';
import type { Json } from './transactions.ts';

const BODY_BYTES_MAX = 1024 * 1024;
/** A longer message ends its connection. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface XrpServer {
  readonly url: string;
  readonly webSocketUrl: string;
  readonly faults: Faults;
  /** Methods that were asked, in order. */
  readonly asked: readonly string[];
  /** Ends every connection and listens no more; `revive` listens again at the same port. */
  die(): Promise<void>;
  revive(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free loopback port. */
export async function startXrpServer(network: LedgerNetwork): Promise<XrpServer> {
  const faults = noFaults(),
    showing = new Showing(network, faults),
    asked: string[] = [];
  const subscribers = new Map<WebSocket, Set<string>>(),
    sockets = new Set<Socket>();

  const answer = (method: string, params: Json): Json => {
    asked.push(method);
    const version = Number(params['api_version'] ?? 1);
    if (version !== 1 && version !== 2) throw new MethodError('invalid_API_version', 'Invalid API version.');
    return perform(method, { params, showing, version: version as Version });
  };

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { busy } = faults;
    if (typeof busy === 'object' && busy !== null) {
      return void response.writeHead(busy.http, { 'content-type': 'text/plain' }).end('Server is overloaded');
    }
    const reply = jsonRpcReply(answer, await textOf(request));
    const body = JSON.stringify(reply.body);
    response.writeHead(reply.status, { 'content-type': 'application/json; charset=UTF-8' }).end(body);
  };

  const onText = (text: string, connection: WebSocket): void => {
    const reply = webSocketReply((method, params) => {
      if (method !== 'subscribe' && method !== 'unsubscribe') return answer(method, params);
      const streams = (params['streams'] ?? []) as string[],
        own = subscribers.get(connection) ?? new Set();
      for (const stream of streams)
        if (method === 'subscribe') own.add(stream);
        else own.delete(stream);
      subscribers.set(connection, own);
      return method === 'subscribe' && own.has('ledger')
        ? ledgerClosed(network, network.ledgerAt(showing.validatedHeight)!)
        : {};
    }, text);
    connection.send(JSON.stringify(reply));
  };
  const stopListening = network.onClose((ledger) => {
    const message = JSON.stringify({ type: 'ledgerClosed', ...ledgerClosed(network, ledger) });
    for (const [connection, streams] of subscribers) if (streams.has('ledger')) connection.send(message);
  });

  let server: Server,
    port = 0;
  const listen = async (): Promise<void> => {
    server = createServer((request, response) => {
      onRequest(request, response).catch(() => {
        response.destroy();
      });
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    new WebSocketServer({ server, maxPayload: MESSAGE_BYTES_MAX }).on('connection', (connection) => {
      subscribers.set(connection, new Set());
      connection.on('message', (data) => {
        onText((data as Buffer).toString('utf8'), connection);
      });
      connection.on('error', () => {
        connection.terminate();
      });
      connection.on('close', () => {
        subscribers.delete(connection);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    port = (server.address() as AddressInfo).port;
  };
  const die = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen();
  return {
    url: `http://127.0.0.1:${port}`,
    webSocketUrl: `ws://127.0.0.1:${port}`,
    faults,
    asked,
    die,
    revive: listen,
    close: async () => {
      stopListening();
      await die();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new Error('body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

type Answer = (method: string, params: Json) => Json;

function jsonRpcReply(answer: Answer, text: string): { status: number; body: unknown } {
  let asked: { method?: unknown; params?: unknown; id?: unknown };
  try {
    asked = JSON.parse(text) as typeof asked;
  } catch {
    return { status: 400, body: 'Unable to parse request' };
  }
  if (typeof asked.method !== 'string') return { status: 400, body: 'Null method' };
  const [params = {}] = Array.isArray(asked.params) ? (asked.params as Json[]) : [];
  const echoed = asked.id === undefined ? {} : { id: asked.id };
  try {
    return { status: 200, body: { result: { ...answer(asked.method, params), status: 'success' }, ...echoed } };
  } catch (error) {
    if (!(error instanceof MethodError)) throw error;
    const request = { ...params, command: asked.method };
    return { status: 200, body: { result: { ...error.answer, request, status: 'error' }, ...echoed } };
  }
}

function webSocketReply(answer: Answer, text: string): Json {
  let request: Json;
  try {
    request = JSON.parse(text) as Json;
  } catch {
    return {
      status: 'error',
      type: 'response',
      error: 'jsonInvalid',
      error_code: 73,
      error_message: 'jsonInvalid',
      value: text,
    };
  }
  const { id, command, ...params } = request,
    echoed = id === undefined ? {} : { id };
  try {
    return {
      ...echoed,
      result: answer(String(command), params),
      status: 'success',
      type: 'response',
      ...(params['api_version'] === undefined ? {} : { api_version: params['api_version'] }),
    };
  } catch (error) {
    if (!(error instanceof MethodError)) throw error;
    return { ...echoed, ...error.answer, request, status: 'error', type: 'response' };
  }
}

function ledgerClosed(network: LedgerNetwork, { hash, height, header, transactions }: ClosedLedger): Json {
  const { baseFee, reserveBase, reserveIncrement } = network.fees;
  return {
    fee_base: Number(baseFee),
    ledger_hash: hash,
    ledger_index: height,
    ledger_time: header.close_time,
    reserve_base: Number(reserveBase),
    reserve_inc: Number(reserveIncrement),
    txn_count: transactions.length,
    validated_ledgers: `${network.firstHeight}-${height}`,
  };
}
