// Where the key frames and program tables of an MPEG-TS file lie.

export interface TsSource {
  container: 'ts'
}
