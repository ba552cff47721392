import { expect, test } from 'vitest';
import { Masker } from '../../logs/masker.ts';
import { maskedFraction } from './json.ts';

test.each([
  { secret: '73019284', fraction: 0.73019284, shown: 0.73 },
  { secret: '73019284', fraction: 0.0173019284, shown: 0.02 },
  { secret: '73019284', fraction: 0.730192, shown: 0.730192 },
  { secret: '0.73', fraction: 0.73, shown: 1 },
])(
  'a reported fraction reveals no part of a masked secret: $fraction with the secret $secret',
  ({ secret, fraction, shown }) => {
    const masker = new Masker();
    masker.add([secret]);
    expect(maskedFraction(fraction, (text) => masker.text(text))).toBe(shown);
  },
);
