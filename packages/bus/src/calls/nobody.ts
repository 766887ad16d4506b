import { ServiceError } from '@orrery/contracts';

/** Nobody serves the subject: `reached: false` tells a caller that nothing can have happened. */
export const nobody = (): ServiceError =>
  new ServiceError('unavailable', 'The service is away', { facts: { reached: false } });
