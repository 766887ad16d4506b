const CENTER = 160;
const FIRST_RADIUS = 34;
const STEP = 26;

/**
 * The orbits of a world: five, whose planets begin where its address says. They move on when something happens (`beat`
 * changes), and rest otherwise: what moves all the time costs a phone its battery.
 */
export function Emblem({ address, beat }: { address: string; beat: number }) {
  const digits = [...address.slice(-5)].map((digit) => Number.parseInt(digit, 16) || 0);
  return (
    <svg class="emblem" viewBox="0 0 320 320" aria-hidden="true" style={{ '--beat': String(beat) }}>
      <circle key={beat} class="sun" cx={CENTER} cy={CENTER} r="13" />
      {digits.map((digit, at) => {
        const radius = FIRST_RADIUS + at * STEP;
        const angle = (digit / 16) * 2 * Math.PI + at;
        return (
          // Orbits have no other name than their place.
          <g key={at} class={`orbit orbit-${at}`}>
            <circle class="path" cx={CENTER} cy={CENTER} r={radius} />
            <circle
              class="planet"
              cx={CENTER + radius * Math.cos(angle)}
              cy={CENTER + radius * Math.sin(angle)}
              r={4 + ((digit + at) % 5)}
            />
          </g>
        );
      })}
    </svg>
  );
}
