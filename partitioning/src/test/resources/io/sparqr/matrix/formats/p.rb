made by formats.py                                                      p       
             2             1             1             0
pra                        7             5            19             0
(20I4)          (26I3)                              
   1   3   6   9  14  20
  1  7  2  3  6  1  2  7  1  2  3  5  7  1  2  4  5  6  7
