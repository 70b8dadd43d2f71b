const WORDS: Partial<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it may only be read',
  ENOENT: 'the folder is missing',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EISDIR: 'a folder stands where a file belongs',
  EEXIST: 'a file stands where a folder belongs',
  ENOTDIR: 'a file stands where a folder belongs',
}

/** What the file system throws, in a few words and its code, without the path. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const words = WORDS[code]
  return words === undefined ? code || 'for an unknown reason' : `${words}, ${code}`
}
