import { Problem } from './problem.js'

/** 403: the user has to prove again who they are. Portal pages redirect to do so. */
export class RecentSignInRequired extends Problem {
  constructor() {
    super(403, 'Sign in again: this requires a recent sign-in.')
  }
}

/** 403: the user has to set up a second factor first. Portal pages redirect to do so. */
export class SecondFactorRequired extends Problem {
  constructor() {
    super(403, 'This service requires a second factor. Set one up in your account.')
  }
}
