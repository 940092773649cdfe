/** What `npm start` says when it is up: where everything is, and a first integration to paste. */

/** Who signs in at the console. */
interface Console {
  email: string;
  password: string;
  /** Base32. */
  totpSecret: string;
}

export interface Up {
  cloudUrl: string;
  edgeUrl: string;
  localApiKey: string;
  /** Signs in at the console. */
  owner: Console;
  dataDir: string;
  seconds: number;
}

/** The web console of a cloud. */
export const consoleUrlOf = (cloudUrl: string): string => `${cloudUrl}/console/`;

/** A line for a shell that prints the code that a sign-in asks for: `{"code":"123456"}`. */
export const codeCommand = ({ totpSecret }: Pick<Console, 'totpSecret'>): string =>
  `echo '{"op":"totp","secret":"${totpSecret}","atSeconds":'$(date +%s)'}' | npm run -s flock -- chain --jsonl`;

/** The README's first integration, from its first numbered step on; a test holds the two together. */
export const STEPS = `call() { curl -sS -X "$1" "$EDGE$2" -H "X-API-Key: $KEY" -H 'content-type: application/json' \${3:+-d "$3"}; echo; }
field() { node -pe "const { data, error } = JSON.parse(fs.readFileSync(0, 'utf8')); error?.message ?? data.$1"; }

# 1. Where should events go? A listener receives and verifies them; its lines appear here. It ends with the fourth event.
SECRET=$(call POST /v1/webhooks '{"url":"http://127.0.0.1:9000/webhooks","events":["deposit_detected","deposit_confirmed","withdrawal_broadcast","withdrawal_confirmed"]}' | field secret)
npm run -s flock -- webhooks listen --port 9000 --secret "$SECRET" --count 4 & LISTENER=$!
until curl -s -o /dev/null http://127.0.0.1:9000 || ! kill -0 $LISTENER; do sleep 0.2; done

# 2. A deposit address for your customer 42, which your edge derived itself.
ADDRESS=$(call POST /v1/addresses '{"chain":"eth","userRef":"customer-42"}' | field address); echo "$ADDRESS"

# 3. Sandbox only: somebody pays 0.5 ETH to it. Events: deposit_detected, then deposit_confirmed.
call POST /v1/sandbox/simulate-deposit '{"chain":"eth","address":"'"$ADDRESS"'","amount":"0.5","autoConfirm":true}'

# 4. Credit your customer by txid + outputIndex when deposit_confirmed arrives. You can also look:
call GET "/v1/balances/eth/$ADDRESS"

# 5. Send some of it (amounts are in wei). Build: nothing is signed. Broadcast: your edge checks, signs and submits.
ID=$(call POST /v1/transactions/unsigned '{"chain":"eth","from":"'"$ADDRESS"'","to":"0x52908400098527886E0F7030069857D2E4169EE7","amount":"1000000000000000"}' | field id)
TXID=$(call POST "/v1/transactions/$ID/broadcast" | field txid)
call POST /v1/sandbox/simulate-confirmation '{"chain":"eth","txid":"'"$TXID"'","confirmations":12}'
call GET "/v1/transactions/$ID"
wait $LISTENER`;

/** The text; every line of the steps runs as it is. */
export function firstSteps({ cloudUrl, edgeUrl, localApiKey, owner, dataDir, seconds }: Up): string {
  return `
Flock is up after ${seconds} s. This is the sandbox: no real chain is contacted, nothing costs anything.

  console ${consoleUrlOf(cloudUrl)}   sign in as ${owner.email} with ${owner.password} and the code of
          ${codeCommand(owner)}
  edge    ${edgeUrl}   your application talks to this one; status page at /
  cloud   ${cloudUrl}   API reference at /docs
  data    ${dataDir}/   people and keys: dev.json · logs: cloud.log, edge.log, postgres.log

First steps, to paste into another terminal in this directory:

EDGE=${edgeUrl}
KEY=${localApiKey}
${STEPS}

Ready in ${seconds} s. Ctrl-C stops everything; the next start finds the data again, "npm start -- --fresh" begins anew.`;
}
