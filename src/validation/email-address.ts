const EMAIL = /^[^\s:,@]+@[^\s:,@]+$/

/** Whether a text is an e-mail address as far as an account needs one. */
export const isEmail = (text: string): boolean => EMAIL.test(text)
