import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { secretText, signedHeaders } from './signature.js';

const body = JSON.stringify({ event: 'Renn­en', result: { winner: 'ñandú' } });

it('is what the package of Standard Webhooks accepts, by either secret', () => {
  const [current, old, other] = [32, 24, 32].map((length) => secretText(randomBytes(length))) as [
    string,
    string,
    string,
  ];
  const headers = signedHeaders([current, old], 'id-1', Date.now(), body);
  for (const secret of [current, old])
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
  expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow('No matching signature');
});

it('is the example of the specification', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const at = 1_614_265_330_000;
  expect(signedHeaders([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, '{"test": 2432232314}')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
