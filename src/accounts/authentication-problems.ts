import { Problem } from '../core/http/problem.js'

/** 403: the user has to authenticate again. Portal pages redirect to the page for this. */
export class RecentSignInRequired extends Problem {
  constructor() {
    super(403, 'Sign in again: this requires a recent sign-in.')
  }
}

/** 403: the user has to set up a second factor. Portal pages redirect to the page for this. */
export class SecondFactorRequired extends Problem {
  constructor() {
    super(403, 'This service requires a second factor. Set one up in your account.')
  }
}
