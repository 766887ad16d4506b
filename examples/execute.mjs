// Executes a public event of Orrery from Node, and pays for it where it has a price (docs/public-execution.md).
//
//   node examples/execute.mjs <server> <deployment address> <event> '<input>'
//
// With EVM_KEY (0x and 64 hex digits) that account signs, and pays in USDC, a dollar at most. Without it an ed25519 wallet,
// as those of Solana are, is made anew for each run.
import { generateKeyPairSync, sign } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import bs58 from 'bs58';
import { privateKeyToAccount } from 'viem/accounts';

const [server, deployment, event, input = '{}'] = process.argv.slice(2);
if (event === undefined) {
  process.stderr.write('usage: node examples/execute.mjs <server> <deployment address> <event> [<input>]\n');
  process.exit(2);
}

// The text names the deployment, the event and the time; the server takes it once, for one input, within five minutes.
const message = `orrery:${deployment}:${event}:${Date.now()}`;
const account = process.env.EVM_KEY && privateKeyToAccount(process.env.EVM_KEY);
const { wallet, signature } = account
  ? { wallet: account.address, signature: await account.signMessage({ message }) }
  : signWithNewWallet(message);

function signWithNewWallet(text) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x } = publicKey.export({ format: 'jwk' });
  const signature = bs58.encode(sign(null, Buffer.from(text, 'utf8'), privateKey));
  return { wallet: bs58.encode(Buffer.from(x, 'base64url')), signature };
}

// A 402 is paid, and the same request is sent again with the payment.
const payWith = (signer) => wrapFetchWithPayment(fetch, registerExactEvmScheme(new x402Client(), { signer }));
const send = account ? payWith(account) : fetch;
const execute = () =>
  send(`${server}/app/deployments/${deployment}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event, input: JSON.parse(input), wallet, message, signature }),
  });
let answer = await execute();
// It is not known yet whether the payment was charged. The same request tells, and is not charged again.
for (; answer.status === 202; answer = await execute()) await setTimeout(3000);
const body = await answer.json();

if (answer.ok) {
  process.stdout.write(`${JSON.stringify(body.data, null, 2)}\n`);
  const payment = answer.headers.get('payment-response');
  if (payment) process.stdout.write(`paid: ${Buffer.from(payment, 'base64')}\n`);
} else {
  // A 402 lists the ways to pay: an amount in the smallest units of an asset, on a network.
  for (const { maxAmountRequired: amount, asset, network, extra, payTo } of body.accepts ?? [])
    process.stderr.write(`It costs ${amount} units of ${extra?.name ?? asset} on ${network}, to ${payTo}.\n`);
  if (answer.status === 402 && !account)
    process.stderr.write('Set EVM_KEY to the private key of an account that pays (0x and 64 hex digits).\n');
  process.stderr.write(`${answer.status} ${body.code}: ${body.error}\n`);
  process.exitCode = 1;
}
