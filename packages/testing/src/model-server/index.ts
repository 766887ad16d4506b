export {
  type ChatBody,
  type ModelCall,
  type ModelServer,
  type Profile,
  startModelServer,
} from './model-server.js';
export {
  completes,
  fails,
  MISBEHAVIOUR,
  refusesForms,
  refusesParameter,
  refusesSystemRole,
  says,
} from './profiles.js';
