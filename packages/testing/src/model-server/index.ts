export { type ModelServer, startModelServer } from './model-server.js';
export {
  type ChatBody,
  completes,
  fails,
  MISBEHAVIOUR,
  type ModelCall,
  type Profile,
  refusesForms,
  refusesParameter,
  refusesSystemRole,
  says,
} from './profiles.js';
